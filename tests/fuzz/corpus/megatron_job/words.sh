cat <<E
$(
E
run --a "$(x "y")" `z` ${A[@]:1} ${#B} <<< x
