%%writefile note.txt
hello
