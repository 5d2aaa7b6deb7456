/** A text of others for people: characters that cannot be seen, or change what is seen, are shown by their code. */
export const visibleText = (text: string): string =>
  text.replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`)
