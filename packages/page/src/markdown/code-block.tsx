import { CopyButton } from '../controls/copy-button.tsx'
import { texts } from '../texts/texts.ts'
import { lazily } from './lazily.ts'

/** Longer code is shown without colours. */
const maxHighlighted = 50_000

const useHighlight = lazily(async () => (await import('./highlight.ts')).highlight)

export function CodeBlock({ code, language }: { code: string; language: string }) {
  const paint = useHighlight(language !== '' && code.length <= maxHighlighted)
  const name = nameOf(language)
  return (
    <div class="code-block u-clip u-line u-round-10 u-raised">
      <div class="code-head u-row u-note u-as-tall">
        <span>{name === '' ? texts.steps.code : name}</span>
        <CopyButton text={code} label={texts.steps.copyCode} />
      </div>
      <pre tabIndex={0} role="group" aria-label={name === '' ? texts.steps.code : texts.steps.codeIn(name)} dir="ltr">
        <code>
          {paint === undefined || code.length > maxHighlighted
            ? code
            : paint(code, language).map(({ kind, text }, at) =>
                kind === null ? (
                  text
                ) : (
                  <span key={at} class={`code-${kind}`}>
                    {text}
                  </span>
                ),
              )}
        </code>
      </pre>
    </div>
  )
}

/** Languages as their makers write them. */
const spellings = new Map(
  'C CSS Diff Dockerfile Go HTML Java JavaScript JSON JSX Kotlin PHP PowerShell Python Ruby Rust SQL Swift TOML TSX TypeScript XML YAML'
    .split(' ')
    .map((name) => [name.toLowerCase(), name]),
)
const shortNames = new Map(
  'bash:Shell cpp:C++ cs:C# csharp:C# js:JavaScript md:Markdown py:Python rb:Ruby rs:Rust sh:Shell shell:Shell ts:TypeScript yml:YAML zsh:Shell'
    .split(' ')
    .map((pair) => pair.split(':', 2) as [string, string]),
)

function nameOf(language: string): string {
  const name = language.toLowerCase()
  return shortNames.get(name) ?? spellings.get(name) ?? language
}
