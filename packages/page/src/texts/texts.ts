import { english, type Texts } from './en/index.ts'
import { chosenLanguage, preferredLanguage, setLocale, type Language } from './locale.ts'

/**
 * The words in the language of the page. Read it while rendering (`texts.frame.newChat`), never when a module starts:
 * the language is loaded after that.
 */
export let texts: Texts = english

export let language: Language = 'en'

/** English is part of the page; other languages are loaded only where they are wanted. */
const load: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => english,
  de: async () => (await import('./de/index.ts')).german,
}

/** Loads the language that was chosen or that the browser prefers; English where it cannot be loaded. */
export async function loadTexts(): Promise<void> {
  const wanted = chosenLanguage() ?? preferredLanguage()
  try {
    texts = await load[wanted]()
    language = wanted
  } catch {
    // Offline: the page works in English, and in the other language after the next reload.
  }
  setLocale(language)
  document.documentElement.lang = language
}
