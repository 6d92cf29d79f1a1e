# bash completion for stockade(1)

# The options of a command and what follows each one that takes a value: f a file, d a directory, w words, - anything else.
_stockade_options() {
  local phrase='-p --passphrase --passphrase-file:f --passphrase-fd:-'
  local keys="-k:f --key-file:f $phrase --no-input" identity='-i:f --identity:f --max-work-factor:-'
  local run='-T:- --threads:- --engine:w=auto,serial,threads,cuda,hybrid --devices:- --progress:w=auto,always,never,json -q --quiet -v --verbose'
  local files='-o:f --output:f -f --force' plan='--plan:f --plan-key:f'
  case $1 in
    keygen) echo "--symmetric --rsa:w=2048,3072,4096 $phrase $files -q --quiet" ;;
    encrypt)
      echo "$keys -r:f --recipient:f -R:f --recipients-file:f --work-factor:- $files --output-dir:d" \
        "--resume --resume-key:f --accept-changed-input --check" \
        "--cipher:w=cobblestone-256,cobblestone-128 -a --armor --part:- $plan $run"
      ;;
    decrypt) echo "$keys $identity $files --output-dir:d --resume --accept-changed-input --range:- --part:- --check $plan $run" ;;
    'plan encrypt')
      echo "$keys -r:f --recipient:f -R:f --recipients-file:f --work-factor:- $plan --parts:- --slice:- $files" \
        "--cipher:w=cobblestone-256,cobblestone-128 -q --quiet -v --verbose"
      ;;
    'plan decrypt') echo "$keys $identity $plan --parts:- --slice:- $files -q --quiet -v --verbose" ;;
    join) echo "$keys $identity $plan $files --unchecked $run" ;;
    inspect) echo '--json' ;;
    verify) echo "$keys $identity $run" ;;
    rekey)
      echo "$keys $identity --add:f --add-recipient:f --add-recipients-file:f --add-passphrase --add-passphrase-file:f --add-passphrase-fd:-" \
        "--work-factor:- --remove:f --restore -q --quiet -v --verbose"
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
    'rsa sign' | 'rsa verify' | 'rsa encrypt' | 'rsa decrypt')
      local rsa="--hash:w=sha256,sha384,sha512 --batch:f $files -T:- --threads:- -q --quiet"
      local public='-r:f --recipient:f' private="-i:f --identity:f $phrase --no-input"
      local padding='--padding:w=pss,pkcs1v15 --salt-length:w=digest,max,any'
      case ${1#rsa } in
        sign) echo "$private $padding $rsa" ;;
        verify) echo "$public --legacy --signature:f $padding $rsa" ;;
        encrypt) echo "$public --label:- $rsa" ;;
        decrypt) echo "$private --label:- $rsa" ;;
      esac
      ;;
    info) echo '--json' ;;
    'bench aes')
      echo '--cipher:- --sizes:- --threads:- --row:- --engine:w=cuda --devices:- --only:- --folder:d --pause:- --rounds:- --lanes:- --run-bytes:-' \
        '--quick --json -q --quiet'
      ;;
    'bench compare') echo '--threshold:- --json' ;;
    'bench file')
      echo '--only:w=memory,files,start,range,many --folder:d --size:- --rounds:- --python:f --quick --json -q --quiet'
      ;;
    'bench rsa')
      echo '--bits:- --operations:w=sign,verify,encrypt,decrypt --batch:- --threads:- --row:- --clients:- --rounds:-' \
        '--queue --keys --ablation --without-ifma --quick --json -q --quiet'
      ;;
    'bench studies')
      echo '--only:w=s1,s2,s3,s4,s5 --largest:- --folder:d --rounds:- --quick --json -q --quiet'
      ;;
    tune)
      echo '--quick --full --engine:w=threads,cuda --operations:- --devices:- --largest:- --folder:d -o:f --output:f' \
        '--built-in --anew --dry-run --show --check --json -q --quiet'
      ;;
    report) echo '-o:f --output:f --pictures:d' ;;
    '') echo '-V --version' ;;
  esac
}

_stockade_commands() {
  case $1 in
    '') echo 'keygen encrypt decrypt inspect verify rekey plan join cobblestone raw rsa info bench report tune' ;;
    plan | cobblestone | raw) echo 'encrypt decrypt' ;;
    rsa) echo 'sign verify encrypt decrypt' ;;
    bench) echo 'aes file rsa studies compare' ;;
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
