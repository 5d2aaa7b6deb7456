import type { StoredDocument } from '../contracts/stored-document.ts'

/** Characters at the beginning of a document that are searched for a notice that it is superseded. */
const searchedCharacters = 700
const maxNoticeLength = 240

/**
 * Statements that a document is no longer valid. Each pattern includes the subject, since a text may well describe how
 * a lamp is replaced: "this policy has been superseded by …", "diese Richtlinie wurde ersetzt durch …". They name the
 * letters of their language, since V8 takes up to .3 s to compile a pattern with several `\p{L}` that ignores case.
 */
const statements: readonly RegExp[] = [
  /\bthis\b.{0,60}?\b(?:(?:is|was|has been|have been)\b.{0,30}?\b(?:superseded|replaced|withdrawn|archived|obsolete|outdated|out of date|retired|deprecated)|no longer (?:valid|in force|in effect|current|appl\w+|maintained))\b/i,
  /\b(?:superseded|replaced|obsoleted) by\b.{0,80}?\b(?:policy|version|page|document|guide(?:line)?s?|handbook|article|procedure|rules?)\b/i,
  /\bdiese[rs]?\b.{0,60}?\b(?:ist|sind|wurden?|wird|gilt)\b.{0,60}?(?:\b(?:ersetzt|abgelöst|veraltet|überholt|aufgehoben|archiviert|ungültig)\b|\bnicht mehr\b|\baußer kraft\b)/i,
  /\b(?:cette?|ce|le présent|la présente)\b.{0,60}?(?:remplacée?s?\b|obsolète|périmée?|caduque?|abrogée?|n['’]est plus (?:en vigueur|valable|valide|à jour))/i,
  /\b(?:est[ea]|esta|el presente|la presente)\b.{0,60}?(?:(?:sustituid|reemplazad|derogad|archivad)[oa]s?\b|obsolet[oa]|ya no (?:está|es) (?:vigente|válid[oa]|en vigor))/i,
  /\bquest[oa]\b.{0,60}?(?:(?:sostituit|superat|abrogat|archiviat)[oa]\b|obsolet[oa]|non è più (?:valid[oa]|in vigore|aggiornat[oa]))/i,
  /\b(?:est[ea]|o presente|a presente)\b.{0,60}?(?:(?:substituíd|revogad|arquivad)[oa]\b|obsolet[oa]|já não (?:está|é)|não está mais|não é mais válid[oa])/i,
  /\b(?:deze|dit)\b.{0,60}?(?:vervangen|verouderd|vervallen|ingetrokken|niet (?:meer|langer) (?:geldig|van kracht|actueel))/i,
  /(?<![a-zåäæöø])(?:den|det|denna|detta|denne|dette)(?![a-zåäæöø]).{0,60}?(?:ersatts?|ersatt av|erstattet|erstattes|föråldrad|forældet|foreldet|upphävd|ophævet|(?:inte|ikke) längre|ikke længere|ikke lenger)/i,
  /(?<![a-ząćęłńóśźż])(?:ten|ta|to|niniejsz[a-ząćęłńóśźż]+)(?![a-ząćęłńóśźż]).{0,60}?(?:zastąpion|nieaktualn|przestarzał|uchylon|nie obowiązuje)/i,
  /(?<![а-яё])(?:эт[а-яё]{1,3}|данн[а-яё]{2,3}|настоящ[а-яё]{2,3})(?![а-яё]).{0,60}?(?:замен[её]н|устарел|утратил[а-яё]* силу|отмен[её]н|недействител|не действует)/i,
  /(?<![a-zçğıöşü])bu(?![a-zçğıöşü]).{0,60}?(?:yürürlükten kald[ıi]r[ıi]l|yerini|yerine geç|geçersiz|geçerli değil|güncel değil)/i,
  /(?:هذه|هذا).{0,60}?(?:استبدل|استُبدل|ألغي|أُلغي|لاغ|لم يعد|لم تعد|قديم)/u,
  /(?:本|此|该|這|这).{0,30}?(?:已被.{0,40}?(?:取代|替代|代替)|已(?:废止|廢止|作废|作廢|过时|過時|失效))/u,
  /(?:この|本).{0,30}?(?:廃止|置き換えられ|無効|失効|旧版|古く)/u,
  /(?:이|본).{0,30}?(?:대체되었|폐지|더 이상 유효하지)/u,
]

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

/**
 * Stems of all words in `banner` and `statements`. Few documents contain one, and this test takes a tenth of the time.
 * Scripts without words in the list always match.
 */
const stems =
  /supersed|replace|withdraw|archiv|obsol|outdated|out\s+of|retired|deprecat|longer|ersetzt|gelöst|veralt|überholt|aufgehob|ungültig|mehr|kraft|remplac|périm|caduqu|abrog|plus|su(?:bs|s)tit|reempl|derog|\bya\s+no|sostit|superat|non\s+è|revog|arquiv|não|vervan|veroud|verval|ingetr|meer|langer|ersatt|erstat|föråld|foræld|foreld|upphäv|ophæv|längre|længere|lenger|zastąp|nieakt|przest|uchyl|obowi|замен|отмен|устар|утрат|недейств|действ|yürür|yerin|geçer|günc|[\u0600-\u06ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/i

/**
 * The notice in which a document says that it is no longer valid: a sentence, its title or its status; undefined if
 * there is none.
 */
export function supersededNotice({
  title,
  semantic_identifier: name,
  metadata,
  sections,
}: Pick<StoredDocument, 'title' | 'semantic_identifier' | 'metadata' | 'sections'>): string | undefined {
  for (const [key, value] of Object.entries(metadata)) {
    const [first = ''] = [value].flat()
    if (successorKeys.test(key) && first.trim() !== '') return cut(`${key}: ${first}`)
    if (/^(?:status|state|estado|statut|stato|статус)$/i.test(key) && status.test(first.trim()))
      return `${key}: ${first}`
  }
  for (const each of [title ?? '', name]) if (titled.test(each)) return cut(each)
  const start = beginningOf(sections)
  if (!stems.test(start)) return undefined
  const lines = start.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim())
  const bannered = lines.find((line) => banner.test(line))
  if (bannered !== undefined) return cut(bannered)
  return sentencesOf(start).find(isStatement)?.slice(0, maxNoticeLength)
}

/**
 * The words in which a document says at its beginning what it replaces: `Travel policy 2022` of "This policy replaces the
 * Travel policy 2022". Undefined if there are none.
 */
export function replacesNotice({ sections }: Pick<StoredDocument, 'sections'>): string | undefined {
  const start = beginningOf(sections)
  if (!replacing.test(start)) return undefined
  for (const sentence of sentencesOf(start)) {
    const [, subject, object] = replacesOther.exec(sentence) ?? []
    if (subject === undefined || object === undefined) continue
    // A text also tells how a lamp is replaced.
    const isOfDocument = !subject.includes(' ') || documentNoun.test(subject)
    if (isOfDocument && !negation.test(`${subject} ${object.split(' ', 3).join(' ')}`)) return cut(object)
  }
  return undefined
}

function beginningOf([first]: StoredDocument['sections']): string {
  if (!first || !('text' in first)) return ''
  return first.text
    .slice(0, searchedCharacters)
    .replaceAll(/[*_`]+/g, '')
    .replaceAll(/[>#|[\]]+/g, ' ')
}

/** Lines of one paragraph belong to one text. */
const sentencesOf = (start: string): string[] =>
  start
    .replaceAll(/(?<!\n)\n(?!\n)/g, ' ')
    .split(/\n+|(?<=[.!?])\s+|(?<=[。！？])/u)
    .map((sentence) => sentence.replaceAll(/\s+/g, ' ').trim())

/** Verbs that have a document as their subject, in these forms. */
const replaces =
  'replaces|supersedes|remplace|annule|sustituye|reemplaza|deroga|sostituisce|substitui|revoga|vervangt|ersätter|erstatter|zastępuje'
/** The same verbs, and forms that occur in other sentences, too. */
const verbs = `${replaces}|replace|supersede|ersetzt|ersetzen|löst|lösen|заменяет`
const replacing = new RegExp(`(?<!\\p{L})(?:${verbs})(?!\\p{L})`, 'iu')
/** Captures the document as the subject and what it replaces: "From 2024, this policy replaces …". */
const replacesOther = new RegExp(
  '^(?:[^,.;:]{1,40}, ?)?((?:this|these|diese[rs]?|cette?|ce|le présent|la présente|est[ea]|el presente|la presente|quest[oa]|' +
    `o presente|a presente|deze|dit|den|det|denna|detta|denne|dette|ten|ta|эт[а-яё]{1,3})(?: [^ ,.;:]+){0,4}?) (?:${verbs}) (.+)$`,
  'iu',
)
const documentNoun =
  /polic|polít|politi|do[ck]ument|pag[ei]|págin|seite|vers|edi[tc]|ausgabe|fassung|guid|guía|handb|manu|rule|reg[eo]l|règl|regul|richtlini|ordnung|pro[cz]ed|procéd|agreement|vereinbarung|accord|contract|vertrag|anleitung|anweisung|merkblatt|leaflet|standard|specif|beleid|handleid|instruc|документ|политик/iu
const negation =
  /(?<!\p{L})(?:not|never|no|longer|nicht|kein\p{L}*|nie|ne|pas|jamais|non|não|niet|inte|ikke|не)(?!\p{L})|n['’]t(?!\p{L})/iu

/** Matches a sentence about documents that this one replaces. */
const mayReplaceOthers = new RegExp(`\\b(?:${replaces})\\b|заменяет|取代了`, 'iu')

const isStatement = (sentence: string): boolean =>
  !mayReplaceOthers.test(sentence) && statements.some((statement) => statement.test(sentence))

const cut = (text: string): string => text.slice(0, maxNoticeLength).trim()
