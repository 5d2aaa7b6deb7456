import { CopyButton } from '../controls/copy-button.tsx'
import { texts } from '../texts/texts.ts'
import { lazily } from './lazily.ts'

/** Longer code is shown without colours. */
const maxHighlighted = 50_000

const useHighlight = lazily(async () => (await import('./highlight.ts')).highlight)

/** A block of code with its language and a button that copies it; scrolls sideways by itself and is reachable by keyboard. */
export function CodeBlock({ code, language }: { code: string; language: string }) {
  const paint = useHighlight(language !== '' && code.length <= maxHighlighted)
  const name = languageNames[language.toLowerCase()] ?? language
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

const languageNames: Readonly<Record<string, string>> = {
  bash: 'Shell',
  c: 'C',
  cpp: 'C++',
  cs: 'C#',
  csharp: 'C#',
  css: 'CSS',
  diff: 'Diff',
  dockerfile: 'Dockerfile',
  go: 'Go',
  html: 'HTML',
  java: 'Java',
  javascript: 'JavaScript',
  js: 'JavaScript',
  json: 'JSON',
  jsx: 'JSX',
  kotlin: 'Kotlin',
  md: 'Markdown',
  php: 'PHP',
  powershell: 'PowerShell',
  py: 'Python',
  python: 'Python',
  rb: 'Ruby',
  rs: 'Rust',
  ruby: 'Ruby',
  rust: 'Rust',
  sh: 'Shell',
  shell: 'Shell',
  sql: 'SQL',
  swift: 'Swift',
  toml: 'TOML',
  ts: 'TypeScript',
  tsx: 'TSX',
  typescript: 'TypeScript',
  xml: 'XML',
  yaml: 'YAML',
  yml: 'YAML',
  zsh: 'Shell',
}
