import { useMemo } from 'preact/hooks'
import { CopyButton } from '../controls/copy-button.tsx'
import { texts } from '../texts/texts.ts'
import { lazily } from './lazily.ts'

const useTex = lazily(async () => (await import('./tex.ts')).texToMathMl)

/** A formula; shown as TeX until the code is loaded, or if it contains something unsupported. */
export function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }) {
  const toMathMl = useTex(true)
  const drawn = useMemo(() => toMathMl?.(tex, isBlock), [toMathMl, tex, isBlock])
  if (!isBlock) return drawn ?? <code class="formula">{tex}</code>
  return (
    <div class="formula-block u-row">
      {drawn === undefined ? (
        <pre class="formula" tabIndex={0} role="group" aria-label={`${texts.steps.formula}: ${tex}`}>
          <code>{tex}</code>
        </pre>
      ) : (
        <div tabIndex={0} role="group" aria-label={`${texts.steps.formula}: ${tex}`}>
          {drawn}
        </div>
      )}
      <CopyButton text={tex} label={texts.steps.copyTex} />
    </div>
  )
}
