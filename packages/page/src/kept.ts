type StorageName = 'localStorage' | 'sessionStorage'

/** What the browser keeps under a name; null without it, and where storage is forbidden. */
export function readKept(name: string, storage: StorageName = 'localStorage'): string | null {
  try {
    return globalThis[storage].getItem(name)
  } catch {
    return null
  }
}

/** Keeps a text under a name, null removes it. Where storage is full or forbidden, it is gone once the page is left. */
export function keep(name: string, text: string | null, storage: StorageName = 'localStorage'): void {
  try {
    if (text === null) globalThis[storage].removeItem(name)
    else globalThis[storage].setItem(name, text)
  } catch {
    // Nothing of it is needed for the page to work.
  }
}
