/** Matches instructions that delete, destroy or force something. */
const destructive =
  /\b(?:delet(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|eras(?:e|es|ed|ing)|overwrit(?:e|es|ing|ten)|wip(?:e|es|ed|ing)|kill(?:s|ed|ing)?|purg(?:e|es|ed|ing)|destroy(?:s|ed|ing)?|drop(?:s|ped|ping)?|truncat(?:e|es|ed|ing)|shred(?:s|ded|ding)?|uninstall(?:s|ed|ing)?|discard(?:s|ed|ing)?|prun(?:e|es|ed|ing)|terminat(?:e|es|ed|ing)|shut(?:s|ting)? ?down|reboot(?:s|ed|ing)?|format(?:s|ted|ting)? (?:an?|the|all|every|your) (?:\S+ )?(?:disk|drive|device|partition|volume|card|filesystem|usb|stick)\b|factory[- ]reset|lösch(?:e|en|t)|überschreib(?:e|en|t)|borra(?:r|s)?|elimina(?:r|s)?|supprim(?:e|er|ez))\b/iu
const destructiveCode =
  /(?:^|[\s;&|`(])(?:rm|rmdir|unlink|del|erase|dd|mkfs(?:\.\w+)?|shred|fdisk|wipefs|killall|pkill|kill|shutdown|reboot|truncate|format [a-z]:|remove-item|stop-process)(?=[\s;`)]|$)|--(?:force|delete|purge|hard|remove|overwrite|prune|wipe|destroy)\b|\s-(?:rf|fr|delete|force)\b|\b(?:drop|truncate) (?:table|database|schema|index)\b|\bdelete from\b/iu

const furtherVerb = /(?<=\S\s)(?:and|then|und|y|et) (?:then )?\p{L}+/giu

/** Whether an instruction destroys something that the question does not ask to destroy. */
export function isDangerous(wholeQuestion: string, text: string, code = ''): boolean {
  // `Sort a file and remove duplicates` asks to sort.
  const question = wholeQuestion.replace(furtherVerb, ' ')
  return (destructive.test(text) || destructive.test(code) || destructiveCode.test(code)) && !destructive.test(question)
}

const verb = (word = ''): RegExp => new RegExp(`\\b${word.replace(/e$/, 'e?')}(?:s|d|ed|ing|ion)?\\b`, 'i')

const opposites: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:zip|compress|archive|pack|tar)\b/i, /\b(?:un(?:zip|pack|compress|archive|tar)|decompress|extract|expand)/i],
  [/\bincrease/i, /\b(?:decrease|reduce)/i],
  [/\bmount/i, /\bu(?:n)?mount/i],
  ...'upload download, start stop, push pull, enable disable, encrypt decrypt, encode decode, import export, install uninstall, connect disconnect, lock unlock, show hide, open close'
    .split(', ')
    .map((pair) => pair.split(' '))
    .map(([action, opposite]) => [verb(action), verb(opposite)] as const),
]

/** Whether an instruction does the opposite of the question, such as unzip for zip. */
export function isOpposite(question: string, text: string): boolean {
  return opposites.some(([action, opposite]) => {
    const [asksAction, asksOpposite] = [action.test(question), opposite.test(question)]
    if (asksAction === asksOpposite) return false
    // Only if the other word is absent: `unzip` of a `zip` file still unzips.
    return asksAction ? opposite.test(text) : action.test(text) && !opposite.test(text)
  })
}
