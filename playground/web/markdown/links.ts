/**
 * The address a link of untrusted text may lead to, or undefined when it may lead nowhere. Parsed as a browser parses
 * it, so that line breaks, entities or capitals inside `javascript:` do not help.
 */
export function safeLink(href: string | null | undefined): string | undefined {
  if (href === null || href === undefined) return undefined
  let url: URL
  try {
    // No base: a relative link of a document means a place in its own site, not in this one.
    url = new URL(href.trim())
  } catch {
    return undefined
  }
  return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined
}
