/**
 * The URL if a link of untrusted text may lead there, otherwise undefined. Parsed like in a browser, so that line
 * breaks, entities or capitals inside `javascript:` do not help.
 */
export function safeLink(address: string | null | undefined): string | undefined {
  if (address === null || address === undefined) return undefined
  try {
    // No base: a relative link of a document refers to its own site.
    const url = new URL(address.trim())
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined
  } catch {
    return undefined
  }
}
