import type { ServerSettings } from './settings.ts'

/** Headers of a message that the operator allows actions to see. */
export function passedHeaders(
  { headers }: Request,
  { passHeaders }: ServerSettings,
): Record<string, string> | undefined {
  if (passHeaders.length === 0) return undefined
  const pairs = passHeaders.map((name) => [name, headers.get(name)] as const)
  return Object.fromEntries(pairs.flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
}
