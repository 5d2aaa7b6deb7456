import { health as english } from './en/health.ts'
import type { Language } from './locale.ts'

/** Words of the view of the health of the service in the language of the page; read it while rendering. */
export let healthTexts: typeof english = english

/** Loads them in a language; English where it cannot be loaded. */
export async function loadHealthTexts(language: Language): Promise<void> {
  try {
    healthTexts = language === 'de' ? (await import('./de/health.ts')).health : english
  } catch {
    healthTexts = english
  }
}
