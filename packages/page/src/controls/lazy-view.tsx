import type { ComponentType, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { language, texts } from '../texts/texts.ts'
import { FailureNote } from './failure-note.tsx'

export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): (props: Props) => VNode {
  let known: ComponentType<Props> | undefined
  return function LazyView(props) {
    const [state, setState] = useState<{ readonly View: ComponentType<Props> } | 'loading' | 'failed'>(
      known === undefined ? 'loading' : { View: known },
    )
    useEffect(() => {
      if (state !== 'loading') return
      Promise.all([load(), import('../texts/view-texts.ts').then((words) => words.loadViewTexts(language))]).then(
        ([View]) => {
          known = View
          setState({ View })
        },
        () => setState('failed'),
      )
    }, [state])
    if (typeof state === 'object') return <state.View {...props} />
    return (
      <div class="documents u-view">
        {state === 'loading' ? (
          <p class="nothing u-muted">{texts.frame.loading}</p>
        ) : (
          <FailureNote failure={{ message: texts.frame.unreachable }} retry={() => setState('loading')} />
        )}
      </div>
    )
  }
}
