/** Copies a text to the clipboard. @returns whether it succeeded */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Refused: the old way below may still be allowed.
  }
  return copyBySelection(text)
}

/** Browsers have no clipboard for scripts on plain http of another host, but let them copy what is selected. */
function copyBySelection(text: string): boolean {
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'visually-hidden'
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus({ preventScroll: true })
  return isCopied
}
