import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { useListener } from './use-listener.ts'

/**
 * Takes files that are dropped anywhere on the page while a place for them is shown.
 * @returns whether files are held over the page
 */
export function useFileDrop(place: RefObject<HTMLElement | null>, take: (data: DataTransfer) => void): boolean {
  const [isOver, setIsOver] = useState(false)
  const takes = (event: DragEvent): boolean =>
    (place.current?.offsetParent ?? null) !== null && event.dataTransfer?.types.includes('Files') === true
  useListener(window, 'dragover', (event) => {
    if (!takes(event)) return
    event.preventDefault()
    setIsOver(true)
  })
  useListener(window, 'dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) setIsOver(false)
  })
  useListener(window, 'drop', (event) => {
    if (!takes(event)) return
    event.preventDefault()
    setIsOver(false)
    if (event.dataTransfer !== null) take(event.dataTransfer)
  })
  return isOver
}
