import type { Texts } from '../en/index.ts'
import { formatDay } from '../locale.ts'

export const pane: Texts['pane'] = {
  close: 'Seitenfenster schließen',
  width: 'Breite des Seitenfensters',
  openAddress: 'Adresse öffnen',
  openDocument: 'Dokument öffnen',
  text: 'Text des Dokuments',
  reading: 'Das Dokument wird gelesen …',
  showBefore: 'Vorherigen Teil zeigen',
  changed: (date) => `Geändert am ${formatDay(date)}`,
  saveOriginal: 'Original speichern',
  originalIsGone: 'Das Original ist nicht mehr gespeichert.',
  quoteIsMissing: 'Der Satz steht nicht wörtlich in diesem Dokument.',
}
