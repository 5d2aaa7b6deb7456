import { isJsonObject, type ToolBlock } from '@inlay/protocol'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { StoredFile } from './stored-file.tsx'

interface ToolResultProps {
  readonly step: ToolBlock
  readonly readFile: Service['file']
}

export function hasResult(step: ToolBlock): boolean {
  return textsOf(step).length > 0 || step.credentialError !== null
}

export function ToolResult({ step }: Pick<ToolResultProps, 'step'>) {
  return (
    <>
      {step.credentialError !== null && <p class="failure-words">{step.credentialError.message}</p>}
      {textsOf(step).map(([label, text]) => (
        <div key={label} class="tool-text u-grid u-gap-2">
          <p class="u-muted u-medium">{label}</p>
          <pre class="u-text u-round-8 u-raised u-anywhere" tabIndex={0} role="group" aria-label={label}>
            <code>{text}</code>
          </pre>
        </div>
      ))}
    </>
  )
}

/** Longer results are cut: nobody reads a million characters. */
const maxCharacters = 20_000

function textsOf(step: ToolBlock): readonly (readonly [string, string])[] {
  const { code, queries: _, urls: __, ...others } = step.arguments
  const isBuiltIn = step.toolId === null
  const words = texts.steps
  const shown: (readonly [string, unknown])[] = [
    [words.code, code],
    [words.arguments, isBuiltIn || Object.keys(others).length === 0 ? undefined : others],
    [words.output, step.output],
    [words.errors, step.errorOutput],
    [words.result, dataOf(step)],
  ]
  return shown.flatMap(([label, value]) => {
    const text = toText(value)
    return text === '' ? [] : [[label, text] as const]
  })
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text
}

/** Results of the built-in actions, without fields that mean nothing to a reader. */
function dataOf({ toolName, data }: ToolBlock): unknown {
  if (toolName === 'read_file' && isJsonObject(data))
    return [data['preview_start'], data['preview_end']].filter((text) => text !== '').join('\n…\n')
  if (toolName === 'add_memory' && isJsonObject(data)) return data['memory_text']
  return data
}

export function GeneratedFiles({ step, readFile }: ToolResultProps) {
  const images = step.images ?? []
  if (images.length === 0 && step.fileIds.length === 0) return null
  return (
    <div class="made u-grid u-gap-12">
      {images.map((image) => (
        <StoredFile key={image.file_id} id={image.file_id} words={image.revised_prompt} readFile={readFile} />
      ))}
      {step.fileIds.map((id) => (
        <StoredFile key={id} id={id} words={null} readFile={readFile} />
      ))}
    </div>
  )
}
