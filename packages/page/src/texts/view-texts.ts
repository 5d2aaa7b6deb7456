import { admin } from './en/admin.ts'
import { documents } from './en/documents.ts'
import { health } from './en/health.ts'
import type { Language } from './locale.ts'

/** Words of the views that are loaded when they are opened, in the language of the page; read them while rendering. */
export let adminTexts: typeof admin = admin
export let documentTexts: typeof documents = documents
export let healthTexts: typeof health = health

/** Loads them in a language; English where it cannot be loaded. */
export async function loadViewTexts(language: Language): Promise<void> {
  const german = language === 'de' ? await import('./de/views.ts').catch(() => undefined) : undefined
  if (german !== undefined) ({ adminTexts, documentTexts, healthTexts } = german)
}
