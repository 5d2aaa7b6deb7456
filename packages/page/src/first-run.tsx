import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from './controls/icons.tsx'
import { totalOf, type Counts } from './service/counts.ts'
import { keep, readKept } from './kept.ts'
import type { AnsweringModel } from './service/service.ts'
import { texts } from './texts/texts.ts'
import { Button } from './controls/button.tsx'

const storageName = 'inlay-first-run'

export function FirstRun({ counts, model }: { counts: Counts | undefined; model: AnsweringModel }) {
  const words = texts.frame
  const [done, setDone] = useState(() => (readKept(storageName) ?? '').split(' ').filter((step) => step !== ''))
  const finish = (step: 'model' | 'skipped'): void => {
    setDone([...done, step])
    keep(storageName, [...done, step].join(' '))
  }
  if (done.includes('skipped')) return null
  const hasDocuments = counts !== undefined && totalOf(counts) > 0
  // Only the built-in model cannot do research.
  const hasModel = model.canResearch || done.includes('model')
  return (
    <section class="first-run u-line u-round" aria-labelledby="first-run-title">
      <div class="u-flex u-gap-12 u-baseline u-between">
        <h2 class="u-bold u-body" id="first-run-title">
          {words.firstSteps}
        </h2>
        <Button kind="text" onClick={() => finish('skipped')}>
          {words.skipSteps}
        </Button>
      </div>
      <ol class="u-grid">
        <Step isDone={hasDocuments} name={words.stepAdd} lead={hasDocuments ? words.stepAdded : words.stepAddLead}>
          <a href="#documents">{words.addFiles}</a>
        </Step>
        <Step isDone={hasModel} name={words.stepModel} lead={words.stepModelLead}>
          <a href="#admin/models">{words.chooseModel}</a>
          {!hasModel && (
            <Button kind="text" onClick={() => finish('model')}>
              {words.keepBuiltIn}
            </Button>
          )}
        </Step>
        <Step isDone={false} name={words.stepAsk} lead={words.stepAskLead} />
      </ol>
    </section>
  )
}

interface StepProps {
  readonly isDone: boolean
  readonly name: string
  readonly lead: string
  readonly children?: JSX.Element | (JSX.Element | false)[]
}

function Step({ isDone, name, lead, children }: StepProps) {
  return (
    <li class={isDone ? 'done u-small' : 'u-small'}>
      <h3 class="u-bold u-small">
        {name}
        {isDone && (
          <>
            <Icon name="check" />
            <span class="visually-hidden">{texts.frame.stepDone}</span>
          </>
        )}
      </h3>
      <p class="u-muted">{lead}</p>
      {children !== undefined && <p class="step-links u-flex u-muted u-wrap">{children}</p>}
    </li>
  )
}
