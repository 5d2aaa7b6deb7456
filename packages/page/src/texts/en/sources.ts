export const sources = {
  ofAnswer: 'Sources of this answer',
  ofAnswerOf: (model: string) => `Sources of the answer of ${model}`,
  one: 'Source',
  many: 'Sources',
  found: 'Found',
  alsoFound: 'Also found',
  untitled: 'Untitled',
  showPassage: 'Show passage',
  less: 'Less',
  back: 'Back to the answer',
}
