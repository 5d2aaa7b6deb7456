import type { StoredDocument } from '../contracts/stored-document.ts'

/** Characters at the beginning of a document that are searched for a notice that it is superseded. */
const searchedCharacters = 700
const maxNoticeLength = 240

/** What a document says of itself when it is no longer valid, by the demonstratives of the same language. */
const statementsOfThis = {
  this:
    '(?:is|was|has been|have been) .{0,30}?(?:superseded|replaced|withdrawn|archived|obsolete|outdated|out of date|retired|deprecated)|' +
    'no longer (?:valid|in force|in effect|current|appl|maintained)',
  'diese[rs]?':
    '(?:ist|sind|wurden?|wird|gilt) [^,]{0,60}?(?:ersetzt|abgelöst|veraltet|überholt|aufgehoben|archiviert|ungültig|nicht mehr(?! als)|außer kraft)',
  'cette?|ce|l[ea] présente?': "remplacé|obsolète|périmé|caduque?|abrogé|n['’]est plus (?:en vigueur|val[ai]|à jour)",
  'est[ea]|(?:el|la) presente':
    '(?:sustituid|reemplazad|derogad|archivad|obsolet)[oa]|ya no (?:está|es) (?:vigente|válid|en vigor)',
  'quest[oa]|(?:il|la) presente':
    '(?:sostituit|superat|abrogat|archiviat|obsolet)[oa]|non è più (?:valid|in vigore|aggiornat)',
  'est[ea]|[oa] presente': '(?:substituíd|revogad|arquivad|obsolet)[oa]|já não (?:está|é)|não (?:está|é) mais',
  'deze|dit': 'vervangen|verouderd|vervallen|ingetrokken|niet (?:meer|langer) (?:geldig|van kracht|actueel)',
  'de[nt] h[äe]r|denn[ae]|dett[ae]':
    'ersatt|erstattet|föråldrad|forældet|foreldet|upphävd|ophævet|(?:inte|ikke) (?:längre|længere|lenger)',
  'ten|ta|to|niniejsz[a-zęą]+': 'zastąpion|nieaktualn|przestarzał|uchylon|nie obowiązuje',
  'эт[а-яё]{1,3}|данн[а-яё]{2,3}|настоящ[а-яё]{2,3}':
    'замен[её]н|устарел|утратил[а-яё]* силу|отмен[её]н|недействител|не действует',
  bu: 'yürürlükten kald[ıi]r[ıi]l|yerini|yerine geç|geçersiz|geçerli değil|güncel değil',
  'هذه|هذا': 'استبدل|استُبدل|ألغي|أُلغي|لاغ|لم يعد|لم تعد|قديم',
  '本|此(?!前)|该|這|这': '已被.{0,40}?(?:取代|替代|代替)|已(?:废止|廢止|作废|作廢|过时|過時|失效)',
  '本|この': '廃止|置き換えられ|無効|失効|旧版|古く',
  '이|본': '대체되었|폐지|더 이상 유효하지',
}
const named =
  '(?:superseded|replaced|obsoleted) by .{0,80}?(?:policy|version|page|document|guide|handbook|article|procedure|rules?)'

/** Letters by name, since V8 takes up to .3 s to compile a pattern with several `\p{L}` that ignores case. */
const letter = '[a-zß-žşа-яё]'

/** Verbs of a sentence about documents that this one replaces. */
const replaces =
  `(?<!${letter})(?:replaces|supersedes|remplace|annule|sustituye|reemplaza|deroga|sostituisce|substitui|revoga|vervangt|` +
  `ersätter|erstatter|zastępuje|заменяет)(?!${letter})|取代了`
/** What follows or precedes such a verb when it is this document that is replaced. */
const pronouns = 'it|them|these|cel(?:le|ui)-ci|tę|tego|go|ją|je|его|е[её]|их|它|(?:den|det|het)(?=[^ ]|$)'
const thisOneAfter = `-[ao]s?| ?(?:a )?(?:${[...Object.keys(statementsOfThis), pronouns].join('|')})(?!${letter})`
const pronounBefore = `(?<!${letter})(?:(?:l[aeio]s?|[ao]s?|go|ją|его|е[её]|их) |l['’])`
const replacesOthers = new RegExp(`(?<!${pronounBefore})(?:${replaces})(?!${thisOneAfter})`, 'i')

/** Statements with their subject, since a text may well describe how a lamp is replaced. */
const statements = [
  named,
  ...Object.entries(statementsOfThis).map(
    ([subject, statement]) => `(?:${subject})(?!${letter})(?:(?!${replaces}).){0,60}?(?<!${letter})(?:${statement})`,
  ),
].map((statement) => new RegExp(`(?<!${letter})${statement}`, 'i'))

/** Matches a banner or a status: the word on its own, first in a line or in brackets in a title. */
const words =
  'superseded|obsolete|outdated|out of date|withdrawn|archived|no longer valid|veraltet|überholt|ungültig|außer kraft|ersetzt|' +
  'obsolète|périmée?|abrogée?|remplacée?|obsolet[oa]|derogad[oa]|sustituid[oa]|reemplazad[oa]|revogad[oa]|substituíd[oa]|' +
  'sostituit[oa]|superat[oa]|abrogat[oa]|verouderd|vervallen|föråldrad|forældet|foreldet|nieaktualn[eya]|устарел[оа]?|' +
  'отмен[её]н[оа]?|已废止|已作废|已失效|已过时|廃止|旧版|폐지'
const banner = new RegExp(
  `^[^\\p{L}\\r\\n\u2028\u2029]*(?:(?:status|state|note|notice|warning|attention|important|hinweis|achtung|statut|attention|estado|nota|stato|let op|статус|внимание)[^\\p{L}\\n]*)?(?:${words})(?=$|[^\\p{L}])(?:[^\\n]{0,8}$|\\s+(?:by|since|on|as of|durch|seit|am|par|depuis|le|por|desde|da|dal|door|sinds|av|af|przez|с|на)\\s|\\s*[:.!–—-])`,
  'imu',
)
const titled = new RegExp(`[([–—|:-]\\s*(?:${words})\\s*(?:[)\\]]\\s*)?$|^[([]?\\s*(?:${words})\\s*[)\\]:–—-]`, 'iu')
const status = new RegExp(`^(?:${words}|deprecated|retired|replaced)$`, 'iu')
const successorKeys = /^(?:superseded|replaced|obsoleted)[-_ ]?by$/i

/** Few documents contain any of these words, and this test takes a tenth of the time. */
const mayState = new RegExp([words, named, ...Object.values(statementsOfThis)].join('|'), 'i')

/** A sentence, its title or its status says that a document is no longer valid; undefined if none does. */
export function supersededNotice({
  title,
  semantic_identifier: name,
  metadata,
  sections: [first],
}: Pick<StoredDocument, 'title' | 'semantic_identifier' | 'metadata' | 'sections'>): string | undefined {
  for (const [key, value] of Object.entries(metadata)) {
    const [text = ''] = [value].flat()
    if (successorKeys.test(key) && text.trim() !== '') return cut(`${key}: ${text}`)
    if (/^(?:status|state|estado|statut|stato|статус)$/i.test(key) && status.test(text.trim())) return `${key}: ${text}`
  }
  for (const each of [title ?? '', name]) if (titled.test(each)) return cut(each)
  const start = first && 'text' in first ? first.text.slice(0, searchedCharacters) : ''
  if (!mayState.test(start)) return undefined
  const plain = start.replaceAll(/[*_`]+/g, '').replaceAll(/[>#|[\]]+/g, ' ')
  const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
  const notice =
    plain
      .split('\n')
      .map(inOneLine)
      .find((line) => banner.test(line)) ??
    // Lines of one paragraph belong to one text.
    plain
      .replaceAll(/(?<!\n)\n(?!\n)/g, ' ')
      .split(/\n+|(?<=[.!?])\s+|(?<=[。！？])/u)
      .map(inOneLine)
      .find((sentence) => !replacesOthers.test(sentence) && statements.some((statement) => statement.test(sentence)))
  return notice === undefined ? undefined : cut(notice)
}

const cut = (text: string): string => text.slice(0, maxNoticeLength).trim()
