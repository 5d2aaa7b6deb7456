/** Reads `name=value` entries separated by spaces or commas; undefined for an invalid entry or a repeated name. */
export function namedValues(
  text: string,
  fits: (value: string) => boolean,
): Readonly<Record<string, string>> | undefined {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')
  const pairs = entries.map((entry) => /^([\w.-]{1,64})=(.+)$/.exec(entry))
  const values: [string, string][] = []
  for (const pair of pairs) {
    const [, name, value] = pair ?? []
    if (name === undefined || value === undefined || !fits(value)) return undefined
    values.push([name, value])
  }
  return new Set(values.map(([name]) => name)).size === values.length ? Object.fromEntries(values) : undefined
}

/** Whether a text is the URL of an MCP server; the prefix `sse+` selects the older transport. */
export function isMcpAddress(text: string): boolean {
  const address = text.replace(/^sse\+/, '')
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
}
