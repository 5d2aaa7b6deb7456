import { useEffect, useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'
import { Icon } from './icons.tsx'

/** How long "Copied" stays, in milliseconds. */
const thanksMs = 1600

export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), thanksMs)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => void copyText(typeof text === 'string' ? text : text()).then(setCopied)
  return (
    <Button class="copy" onClick={copy} label={copied ? texts.frame.copied : label} title={label}>
      <Icon name={copied ? 'check' : 'copy'} />
      <span aria-hidden="true">{copied ? texts.frame.copied : texts.frame.copy}</span>
    </Button>
  )
}
