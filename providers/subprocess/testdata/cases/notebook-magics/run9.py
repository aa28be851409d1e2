%%bash
cat note.txt
echo done
