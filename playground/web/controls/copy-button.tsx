import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { CheckIcon, CopyIcon } from './icons.tsx'

/** How long "Copied" stays, in milliseconds. */
const thanksMs = 1600

/** A button that puts a text on the clipboard and says so; without a clipboard (plain http on another host) it is not there. */
export function CopyButton({ text, label }: { text: string; label: string }): JSX.Element | null {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), thanksMs)
    return () => clearTimeout(timer)
  }, [copied])
  if (!navigator.clipboard) return null
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <button type="button" class="quiet-button copy" onClick={copy} aria-label={copied ? 'Copied' : label} title={label}>
      {copied ? <CheckIcon /> : <CopyIcon />}
      <span aria-hidden="true">{copied ? 'Copied' : 'Copy'}</span>
    </button>
  )
}
