import { formatDay } from '../locale.ts'

export const pane = {
  close: 'Close the pane',
  width: 'Width of the pane',
  openAddress: 'Open its address',
  openDocument: 'Open document',
  text: 'Text of the document',
  reading: 'Reading the document…',
  showBefore: 'Show what comes before',
  changed: (date: Date) => `Changed ${formatDay(date)}`,
  saveOriginal: 'Save the original',
  originalIsGone: 'The original is no longer stored.',
  quoteIsMissing: 'The sentence is not in this document word for word.',
}
