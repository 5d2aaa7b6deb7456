import { createElement, render } from 'preact'

/** Runs a hook in a component that draws nothing, until it is stopped. */
export function runHook<Value>(hook: () => Value): { readonly latest: () => Value; readonly stop: () => void } {
  let value!: Value
  const Probe = () => {
    value = hook()
    return null
  }
  const place = { childNodes: [] } as never
  render(createElement(Probe, {}), place)
  return { latest: () => value, stop: () => render(null, place) }
}
