import { commonWordsOf } from '@inlay/text'

/** Stands before the closest places; by ISO 639-1. */
const unsure: Readonly<Record<string, string>> = {
  en: 'I am not sure. These places come closest:',
  de: 'Ich bin nicht sicher. Am nächsten kommen diese Stellen:',
  fr: 'Je ne suis pas sûr. Ces passages s’en approchent le plus :',
  es: 'No estoy seguro. Estos pasajes son los más cercanos:',
  it: 'Non sono sicuro. Questi passaggi sono i più vicini:',
  pt: 'Não tenho certeza. Estes trechos são os mais próximos:',
  nl: 'Ik weet het niet zeker. Deze passages komen het dichtst in de buurt:',
  sv: 'Jag är inte säker. Dessa ställen kommer närmast:',
  da: 'Jeg er ikke sikker. Disse steder kommer nærmest:',
  pl: 'Nie mam pewności. Te miejsca są najbliższe:',
  ru: 'Я не уверен. Ближе всего эти места:',
  tr: 'Emin değilim. En yakın yerler şunlar:',
  ar: 'لست متأكدًا. هذه أقرب المواضع:',
  zh: '我不确定。最接近的段落是：',
  ja: '確かではありません。最も近い箇所は次のとおりです：',
}

/** Says that the documents do not answer; by ISO 639-1. */
const refused: Readonly<Record<string, string>> = {
  en: 'I could not find an answer to this in the documents.',
  de: 'Dazu habe ich in den Dokumenten keine Antwort gefunden.',
  fr: 'Je n’ai pas trouvé de réponse à cette question dans les documents.',
  es: 'No he encontrado una respuesta a esto en los documentos.',
  it: 'Non ho trovato una risposta nei documenti.',
  pt: 'Não encontrei uma resposta para isto nos documentos.',
  nl: 'Ik heb hier in de documenten geen antwoord op gevonden.',
  sv: 'Jag hittade inget svar på detta i dokumenten.',
  da: 'Jeg fandt ikke noget svar på dette i dokumenterne.',
  pl: 'Nie znalazłem w dokumentach odpowiedzi na to pytanie.',
  ru: 'Я не нашёл ответа на это в документах.',
  tr: 'Belgelerde bunun yanıtını bulamadım.',
  ar: 'لم أجد جوابًا عن هذا في المستندات.',
  zh: '我在文档中没有找到这个问题的答案。',
  ja: '文書の中にこの質問の答えは見つかりませんでした。',
}

/** The language that the first of several texts shows, ISO 639-1; English if none does. */
export function languageOf(...texts: readonly string[]): string {
  for (const text of texts) {
    if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
    if (/\p{Script=Han}/u.test(text)) return 'zh'
    const language = commonWordsOf(text)?.language
    if (language !== undefined) return language
  }
  return 'en'
}

export const framesOf = (language: string): { readonly unsure: string; readonly refused: string } => ({
  unsure: unsure[language] ?? unsure['en']!,
  refused: refused[language] ?? refused['en']!,
})
