import { keep, readKept } from '../kept.ts'

/** Remembered in this browser, so that a reload or a new tab needs no key again. */
const storageName = 'inlay-key'

/**
 * The key of this page: fetched with the token of the printed address, or remembered from before; null when neither
 * is there. Takes the token out of the address, so that it is neither bookmarked nor shared.
 */
export async function findKey(): Promise<string | null> {
  const token = /^#open=([\w-]{10,100})$/.exec(location.hash)?.[1]
  if (token === undefined) return rememberedKey()
  history.replaceState(null, '', location.pathname)
  try {
    const response = await fetch('/page/key', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    if (!response.ok) return rememberedKey()
    const body: unknown = await response.json()
    const key = typeof body === 'object' && body !== null && 'key' in body ? body.key : undefined
    if (typeof key !== 'string') return rememberedKey()
    rememberKey(key)
    return key
  } catch {
    return rememberedKey()
  }
}

/** Keeps a key for the next time; a browser that keeps nothing asks again then. */
export const rememberKey = (key: string): void => keep(storageName, key)
const rememberedKey = (): string | null => readKept(storageName)
