import { admin } from './en/admin.ts'
import { documents } from './en/documents.ts'
import { health } from './en/health.ts'
import type { Language } from './locale.ts'

const english = { adminTexts: admin, documentTexts: documents, healthTexts: health }

/** Words of the views that are loaded when they are opened, in the language of the page; read them while rendering. */
export let { adminTexts, documentTexts, healthTexts } = english

/** Loads them in a language; English where it cannot be loaded. */
export async function loadViewTexts(language: Language): Promise<void> {
  const loaded = language === 'de' ? import('./de/views.ts').catch(() => english) : english
  ;({ adminTexts, documentTexts, healthTexts } = await loaded)
}
