a=$a$a
b=$((c))
c=b
case $x in y) ;; esac
f() { f; }
f
