import type { Language } from '../locale.ts'
import { english } from './en.ts'

/** Words of the administration in the language of the page; read it while rendering. */
export let adminTexts: typeof english = english

/** Loads them in a language; English where it cannot be loaded. */
export async function loadAdminTexts(language: Language): Promise<void> {
  try {
    adminTexts = language === 'de' ? (await import('./de.ts')).german : english
  } catch {
    adminTexts = english
  }
}
