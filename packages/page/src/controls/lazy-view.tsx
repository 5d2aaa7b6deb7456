import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { FailureNote } from './failure-note.tsx'

/** Makes a view whose code is loaded when it is shown for the first time. */
export function lazyView<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => JSX.Element {
  let known: ComponentType<Props> | undefined
  return function LazyView(props) {
    const [state, setState] = useState<{ readonly View: ComponentType<Props> } | 'loading' | 'failed'>(
      known === undefined ? 'loading' : { View: known },
    )
    useEffect(() => {
      if (state !== 'loading') return
      load().then(
        (View) => {
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
