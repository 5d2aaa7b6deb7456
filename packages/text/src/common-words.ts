import { stopWords } from './terms.ts'

/** As used in questions. Short lists suffice: the remaining frequent words have little weight anyway. */
const lists: Readonly<Record<string, string>> = {
  en:
    'a an and are as at be but by can could did do does for from had has have how i if in into is it its may my of on or ' +
    'our should so than that the their then there these they this those to was we were what when where which who whom ' +
    'whose why will with would you your',
  de:
    'aber alle als also am an auch auf aus bei beim bin bis da darf damit dann das dass dem den denn der des dessen die dies diese ' +
    'diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es für fürs gibt hat hatte habe haben ich ihr ' +
    'im in ins ist kann kein keine können man mein meine meinem meinen meiner mich mir mit muss müssen nach nicht noch nur ob oder sein sich sie ' +
    'sind so soll über um und uns viel viele von vom vor wann war waren warum was weil welche welchem welchen welcher welches wenn ' +
    'wem wen wer werden wessen weshalb wie wieder wieso wird wo wofür woher wohin womit wozu wurde wurden zu zum zur zwischen',
  fr:
    'a ai au aux avec c ce ceci cela ces cet cette comment d dans de des donc du elle elles en est et eu fait il ils j je ' +
    'l la le les leur lui m ma mais me mes moi mon n ne nos notre nous on ont ou où par pas peut pour pourquoi qu quand que ' +
    'quel quelle quelles quels qui quoi s sa sans se ses son sont sur ta te tes toi ton tu un une vos votre vous y à été être',
  es:
    'a al algo como con cual cuales cuando cuál cuáles cuándo cuánto cómo de del desde donde dónde e el ella ellas ellos en ' +
    'entre era es esa ese eso esta estas este esto estos está están fue ha han hasta hay la las le les lo los más me mi muy ' +
    'ni no nos o para pero por porque qué que quien quién se ser si sin sobre son su sus también te tiene tienen todo un ' +
    'una unas uno unos y ya',
  it:
    'a ad agli ai al alla alle allo anche c che chi ci come con cosa cui da dagli dai dal dalla dalle dallo degli dei del ' +
    'della delle dello di dove e ed era gli ha hanno i il in io l la le lo loro ma mi nel nella nelle nei negli non o per ' +
    'perché più può quale quali quando quanto quanti quella quelle quelli quello questa queste questi questo se si sono su ' +
    'sua sue sui sul sulla suo suoi tra un una uno vi è',
  pt:
    'a ao aos as com como da das de do dos e ela elas ele eles em entre era essa esse esta este está estão eu foi há isso ' +
    'isto já lhe mais mas me meu minha muito na nas não no nos nossa nosso num numa o onde os ou para pela pelas pelo pelos ' +
    'por porque qual quais quando quanto que quem se sem ser seu seus sobre sua suas são também tem têm um uma umas uns à às é',
  nl:
    'aan af al als bij dan dat de deze die dit door een en er geen had hebben heeft het hij hoe hun ik in is je kan kunnen ' +
    'maar me meer met mijn moet na naar niet nog of om onder ons ook op over te tot tussen u uit van veel voor waar waarom ' +
    'wanneer waren was wat we wel welk welke werd werden wie wij worden wordt ze zich zij zijn zo zonder zou',
  sv:
    'alla att av blev bli blir de dem den denna deras dess det detta dig din du där efter eller en ett finns från för ha ' +
    'hade han har hon hur här i inte jag kan kunde man med men mig min mot mycket när och om oss på sig sin sina ska skulle ' +
    'som så till under upp ut var vad varför vem vid vilka vilken vilket vill är över',
  da:
    'af alle andet at blev blive bliver da de dem den denne der deres det dette dig din dog du efter eller en er et for fra ' +
    'ham han har hun hvad hvem hver hvilke hvilken hvilket hvor hvordan hvorfor hvornår i ikke ind jeg kan kunne man med ' +
    'meget men mig min mod mit nogle nu når og også om op os over på sig sin skal som så til ud under var ved vi vil være været',
  pl:
    'aby ale bardzo bez być był była było były by co czy czego czym dla do gdy gdzie go i ich im ich jak jaka jaki jakie ' +
    'jako jego jej jest jestem już kiedy kto która które którego której który którzy ma mają może można na nad nie niego o ' +
    'od po pod przed przez przy są się ta tak także tam te tego tej ten to tu tych tym w we więc z za ze że',
  ru:
    'а без более бы был была были было быть в вам вас ведь во вот все всех вы где да для до его ее если есть еще же за и из ' +
    'или им их к как какая какие какой когда кто который которая которые ли между меня мне мной мы на над нам нас не него ' +
    'нее нет ни них но о об он она они оно от по под после при про с свой со та так также там те тем то того тоже той ' +
    'только том тот ты у уже чего чем что чтобы эта эти это этого этой этом этот я',
  tr:
    'acaba ama ancak bana bazı ben beni bir biri biz bu bunlar bunu da daha de değil diye en gibi hangi hem hep her hiç için ' +
    'ile ise kadar kim kimin ki mi mu mü mı nasıl ne neden nedir nerede niçin niye o olan olarak ona onlar onu sen siz şey ' +
    'şu tüm ve veya ya yani çok çünkü',
  ar:
    'أم أن أنا أنت أو أي أين إذا إلى إن الذي التي الذين بعد بين تلك ثم حتى حيث خلال ذلك عن عند على في قبل قد كان كانت كل كم كما ' +
    'كيف لا لكن لم لماذا لن له لها ما ماذا متى مع من منذ نحن هذا هذه هل هم هنا هناك هو هي و وقد ولا وما يا يكون',
}

export interface CommonWords {
  /** ISO 639-1. */
  readonly language: string
  /** In lower case. */
  readonly words: ReadonlySet<string>
}

const languages: readonly CommonWords[] = Object.entries(lists).map(([language, words]) => ({
  language,
  words: new Set(words.split(' ')),
}))

export const englishWords: CommonWords = languages[0]!

const frequentAnywhere: ReadonlySet<string> = new Set([...stopWords, ...languages.flatMap(({ words }) => [...words])])

/** Whether a word in lower case is frequent in some language, so that an index may omit it. */
export const isCommonWord = (word: string): boolean => frequentAnywhere.has(word)

/** Words as written; `l'eau` is two. Letters inside codes (`5815a3d`, `L121-1`) are not words. */
const wordForm = /(?<![\p{L}\p{M}\p{N}_])[\p{L}\p{M}]+(?![\p{L}\p{M}\p{N}_])/gu

/** Each word with the languages in which it is frequent: looking it up in every language takes several times as long. */
const languagesOf = new Map<string, CommonWords[]>()
for (const language of languages)
  for (const word of language.words) {
    const others = languagesOf.get(word)
    if (others) others.push(language)
    else languagesOf.set(word, [language])
  }

/** Those of the language that a text appears to be in; undefined if it contains fewer than two of any. */
export function commonWordsOf(text: string): CommonWords | undefined {
  const counts = new Map<CommonWords, number>()
  for (const word of new Set(text.toLowerCase().match(wordForm)))
    for (const language of languagesOf.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1)
  if (counts.size === 0) return undefined
  let best: CommonWords | undefined
  let most = 1
  for (const language of languages) {
    const count = counts.get(language) ?? 0
    if (count <= most) continue
    most = count
    best = language
  }
  return best
}

/**
 * Removes the frequent words of a query's language, so that they do not match texts in another language. English ones
 * stay, since an index drops them itself. Words in capitals stay (`die Leitung der IT`, `article L 121`), and words
 * attached to a sign, such as the option `-a`.
 */
export function withoutCommonWords(query: string): string {
  const common = commonWordsOf(query)
  if (!common || common.language === 'en') return query
  const isShouted = !/\p{Ll}/u.test(query)
  const kept = query.replace(wordForm, (word, at: number) => {
    if (!common.words.has(word.toLowerCase())) return word
    const isName = !isShouted && at > firstWord(query) && !/\p{Ll}/u.test(word) && /\p{Lu}/u.test(word)
    const isElided = /^['’]/.test(query.slice(at + word.length))
    return (isName && !isElided) || /[-./\\]$/.test(query.slice(0, at)) ? word : ''
  })
  // If nothing else is left, the query consists of frequent words and is kept.
  return /[\p{L}\p{N}]/u.test(kept) ? kept.replaceAll(/\s+/g, ' ').trim() : query
}

/** Position of the first word, which may be capitalized only because of its position. */
const firstWord = (query: string): number => query.search(/[\p{L}\p{N}]/u)
