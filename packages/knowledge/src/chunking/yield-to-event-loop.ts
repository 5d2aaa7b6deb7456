/**
 * Resolves once the event loop has served what was waiting: incoming requests, finished reads. Long work awaits it
 * between its parts, and a group commit awaits it to let more requests join.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    // Not a web API, but every server runtime has it; a timer costs a millisecond.
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve)
  })
}
