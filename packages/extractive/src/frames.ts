import { commonWordsOf } from '@inlay/text'

/** What the model says beside quotations, in one language. */
export interface Frames {
  /** Before the closest places. */
  readonly unsure: string
  /** The documents that were found do not answer. */
  readonly refused: string
  /** No document was found. */
  readonly nothing: string
  /** Everything was said before. */
  readonly nothingMore: string
}

const english: Frames = {
  unsure: 'I am not sure. These places come closest:',
  refused: 'I could not find an answer to this in the documents.',
  nothing: 'I found nothing about this in the documents. Other words may help, or the documents do not cover it.',
  nothingMore: 'I found nothing more about this in the documents.',
}

/** By ISO 639-1. */
const frames: Readonly<Record<string, Frames>> = {
  en: english,
  de: {
    unsure: 'Ich bin nicht sicher. Am nächsten kommen diese Stellen:',
    refused: 'Dazu habe ich in den Dokumenten keine Antwort gefunden.',
    nothing: 'Dazu habe ich in den Dokumenten nichts gefunden. Vielleicht helfen andere Wörter.',
    nothingMore: 'Mehr habe ich dazu in den Dokumenten nicht gefunden.',
  },
  fr: {
    unsure: 'Je ne suis pas sûr. Ces passages s’en approchent le plus :',
    refused: 'Je n’ai pas trouvé de réponse à cette question dans les documents.',
    nothing: 'Je n’ai rien trouvé à ce sujet dans les documents. D’autres mots aideront peut-être.',
    nothingMore: 'Je n’ai rien trouvé de plus à ce sujet dans les documents.',
  },
  es: {
    unsure: 'No estoy seguro. Estos pasajes son los más cercanos:',
    refused: 'No he encontrado una respuesta a esto en los documentos.',
    nothing: 'No he encontrado nada sobre esto en los documentos. Quizá ayuden otras palabras.',
    nothingMore: 'No he encontrado nada más sobre esto en los documentos.',
  },
  it: {
    unsure: 'Non sono sicuro. Questi passaggi sono i più vicini:',
    refused: 'Non ho trovato una risposta nei documenti.',
    nothing: 'Non ho trovato nulla su questo nei documenti. Forse aiutano altre parole.',
    nothingMore: 'Non ho trovato altro su questo nei documenti.',
  },
  pt: {
    unsure: 'Não tenho certeza. Estes trechos são os mais próximos:',
    refused: 'Não encontrei uma resposta para isto nos documentos.',
    nothing: 'Não encontrei nada sobre isto nos documentos. Talvez outras palavras ajudem.',
    nothingMore: 'Não encontrei mais nada sobre isto nos documentos.',
  },
  nl: {
    unsure: 'Ik weet het niet zeker. Deze passages komen het dichtst in de buurt:',
    refused: 'Ik heb hier in de documenten geen antwoord op gevonden.',
    nothing: 'Ik heb hier in de documenten niets over gevonden. Misschien helpen andere woorden.',
    nothingMore: 'Ik heb hier in de documenten niets meer over gevonden.',
  },
  sv: {
    unsure: 'Jag är inte säker. Dessa ställen kommer närmast:',
    refused: 'Jag hittade inget svar på detta i dokumenten.',
    nothing: 'Jag hittade inget om detta i dokumenten. Andra ord kan hjälpa.',
    nothingMore: 'Jag hittade inget mer om detta i dokumenten.',
  },
  da: {
    unsure: 'Jeg er ikke sikker. Disse steder kommer nærmest:',
    refused: 'Jeg fandt ikke noget svar på dette i dokumenterne.',
    nothing: 'Jeg fandt ikke noget om dette i dokumenterne. Andre ord kan hjælpe.',
    nothingMore: 'Jeg fandt ikke mere om dette i dokumenterne.',
  },
  pl: {
    unsure: 'Nie mam pewności. Te miejsca są najbliższe:',
    refused: 'Nie znalazłem w dokumentach odpowiedzi na to pytanie.',
    nothing: 'Nie znalazłem w dokumentach nic na ten temat. Pomóc mogą inne słowa.',
    nothingMore: 'Nie znalazłem w dokumentach nic więcej na ten temat.',
  },
  ru: {
    unsure: 'Я не уверен. Ближе всего эти места:',
    refused: 'Я не нашёл ответа на это в документах.',
    nothing: 'Я ничего не нашёл об этом в документах. Возможно, помогут другие слова.',
    nothingMore: 'Больше я ничего не нашёл об этом в документах.',
  },
  tr: {
    unsure: 'Emin değilim. En yakın yerler şunlar:',
    refused: 'Belgelerde bunun yanıtını bulamadım.',
    nothing: 'Belgelerde bununla ilgili bir şey bulamadım. Başka sözcükler yardımcı olabilir.',
    nothingMore: 'Belgelerde bununla ilgili başka bir şey bulamadım.',
  },
  ar: {
    unsure: 'لست متأكدًا. هذه أقرب المواضع:',
    refused: 'لم أجد جوابًا عن هذا في المستندات.',
    nothing: 'لم أجد شيئًا عن هذا في المستندات. قد تفيد كلمات أخرى.',
    nothingMore: 'لم أجد المزيد عن هذا في المستندات.',
  },
  zh: {
    unsure: '我不确定。最接近的段落是：',
    refused: '我在文档中没有找到这个问题的答案。',
    nothing: '我在文档中没有找到相关内容。换一种说法也许有帮助。',
    nothingMore: '我在文档中没有找到更多相关内容。',
  },
  ja: {
    unsure: '確かではありません。最も近い箇所は次のとおりです：',
    refused: '文書の中にこの質問の答えは見つかりませんでした。',
    nothing: '文書の中にこれに関する内容は見つかりませんでした。別の言葉なら見つかるかもしれません。',
    nothingMore: '文書の中にこれ以上の内容は見つかりませんでした。',
  },
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

export const framesOf = (language: string): Frames => frames[language] ?? english
