out.stdout
