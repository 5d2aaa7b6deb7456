import type { Texts } from '../en/index.ts'

export const sources: Texts['sources'] = {
  ofAnswer: 'Quellen dieser Antwort',
  ofAnswerOf: (model) => `Quellen der Antwort von ${model}`,
  one: 'Quelle',
  many: 'Quellen',
  found: 'Gefunden',
  alsoFound: 'Außerdem gefunden',
  untitled: 'Ohne Titel',
  showPassage: 'Stelle zeigen',
  less: 'Weniger',
  back: 'Zurück zur Antwort',
}
