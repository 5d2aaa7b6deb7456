/** Formats milliseconds since 1970 UTC as ISO 8601 with `Z`; null stays null. */
export function toDate(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
