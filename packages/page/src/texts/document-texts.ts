import { documents as english } from './en/documents.ts'
import type { Language } from './locale.ts'

/** Words of the view of the documents in the language of the page; read it while rendering. */
export let documentTexts: typeof english = english

/** Loads them in a language; English where it cannot be loaded. */
export async function loadDocumentTexts(language: Language): Promise<void> {
  try {
    documentTexts = language === 'de' ? (await import('./de/documents.ts')).documents : english
  } catch {
    documentTexts = english
  }
}
