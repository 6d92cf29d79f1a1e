# bash completion for stockade(1)

# The options of a command and what follows each one that takes a value: f a file, d a directory, w words, - anything else.
_stockade_options() {
  local keys='-k:f --key-file:f -p --passphrase --passphrase-file:f --passphrase-fd:- --no-input'
  local run='-T:- --threads:- --engine:w=auto,serial,threads,cuda,hybrid --devices:- --progress:w=auto,always,never,json -q --quiet -v --verbose'
  local files='-o:f --output:f -f --force'
  case $1 in
    keygen) echo "--symmetric $files -q --quiet" ;;
    encrypt)
      echo "$keys --work-factor:- $files --output-dir:d --resume --resume-key:f" \
        "--cipher:w=cobblestone-256,cobblestone-128 -a --armor $run"
      ;;
    decrypt) echo "$keys --max-work-factor:- $files --output-dir:d --resume --range:- $run" ;;
    inspect) echo '--json' ;;
    verify) echo "$keys --max-work-factor:- $run" ;;
    rekey)
      echo "$keys --max-work-factor:- --add:f --add-passphrase --add-passphrase-file:f --add-passphrase-fd:-" \
        "--work-factor:- --remove:f -q --quiet -v --verbose"
      ;;
    'cobblestone encrypt' | 'cobblestone decrypt') echo "--key-file:f --context:- --bits:w=256,128 $files $run" ;;
    'raw encrypt' | 'raw decrypt')
      local ciphers='' size mode
      for size in 128 192 256; do
        for mode in ecb cbc cfb ofb ctr gcm xts; do
          [[ $size$mode == 192xts ]] || ciphers+=,aes-$size-$mode
        done
      done
      echo "--cipher:w=${ciphers#,} --key-file:f --key:- --iv:- --aad:- --padding:w=pkcs7,none --data-unit:- $files $run"
      ;;
    info) echo '--json' ;;
    'bench aes')
      echo '--cipher:- --sizes:- --threads:- --row:- --engine:w=cuda --devices:- --only:- --folder:d --rounds:-' \
        '--quick --json -q --quiet'
      ;;
    'bench file')
      echo '--only:w=memory,files,start,range,many --folder:d --size:- --rounds:- --python:f --quick --json -q --quiet'
      ;;
    '') echo '-V --version' ;;
  esac
}

_stockade_commands() {
  case $1 in
    '') echo 'keygen encrypt decrypt inspect verify rekey cobblestone raw info bench' ;;
    cobblestone | raw) echo 'encrypt decrypt' ;;
    bench) echo 'aes file' ;;
  esac
}

_stockade() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' i option value
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ " $(_stockade_commands "$command") " == *" ${COMP_WORDS[i]} "* ]] || continue
    command+=${command:+ }${COMP_WORDS[i]}
  done
  local options
  options=$(_stockade_options "$command")
  # "--name=value" comes as three words.
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for option in $options; do
    [[ $option == "$before":* ]] || continue
    value=${option#*:}
    case $value in
      f) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
      d) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
      w=*)
        value=${value#w=}
        mapfile -t COMPREPLY < <(compgen -W "${value//,/ }" -- "$word")
        ;;
      -) COMPREPLY=() ;;
    esac
    return
  done
  if [[ $word == -* ]]; then
    local names='-h --help'
    for option in $options; do names+=" ${option%%:*}"; done
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
  elif [[ -n $(_stockade_commands "$command") ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_stockade_commands "$command")" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

complete -o filenames -F _stockade stockade
