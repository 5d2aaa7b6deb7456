const prefix = 'inlay_'

/** Generates a key with 256 random bits, so that its hash needs no salt and guessing needs no rate limit. */
export function newKey(): string {
  const text = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))
  return prefix + text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

export function displayOf(key: string): string {
  return `${key.slice(0, prefix.length + 4)}********${key.slice(-4)}`
}

/** SHA-256 of a key in hexadecimal, which is stored and looked up instead of the key. */
export async function hashOf(key: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
