import type { JSX } from 'preact'
import { CopyButton } from '../controls/copy-button.tsx'

/** A block of code with a button that copies it; scrolls sideways by itself and is reachable by keyboard. */
export function CodeBlock({ code, language }: { code: string; language: string }): JSX.Element {
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={language === '' ? 'Code' : `Code, ${language}`}>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} label="Copy code" />
    </div>
  )
}
