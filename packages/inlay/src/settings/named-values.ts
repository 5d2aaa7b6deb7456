/** Reads `name=value` entries, separated by spaces or commas; undefined when one is none, or a name occurs twice. */
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

/** Whether a text is the address of an MCP server; `sse+` before it stands for the older transport. */
export function isMcpAddress(text: string): boolean {
  const address = text.replace(/^sse\+/, '')
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
}
