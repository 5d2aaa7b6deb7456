import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/**
 * Takes files that are dropped anywhere on the page while a place for them is shown.
 * @returns whether files are held over the page
 */
export function useFileDrop(place: RefObject<HTMLElement | null>, take: (data: DataTransfer) => void): boolean {
  const [isOver, setIsOver] = useState(false)
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    const takes = (event: DragEvent): boolean =>
      (place.current?.offsetParent ?? null) !== null && event.dataTransfer?.types.includes('Files') === true
    const onDragOver = (event: DragEvent): void => {
      if (!takes(event)) return
      event.preventDefault()
      setIsOver(true)
    }
    const onDragLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setIsOver(false)
    }
    const onDrop = (event: DragEvent): void => {
      if (!takes(event)) return
      event.preventDefault()
      setIsOver(false)
      if (event.dataTransfer !== null) latest.current(event.dataTransfer)
    }
    addEventListener('dragover', onDragOver)
    addEventListener('dragleave', onDragLeave)
    addEventListener('drop', onDrop)
    return () => {
      removeEventListener('dragover', onDragOver)
      removeEventListener('dragleave', onDragLeave)
      removeEventListener('drop', onDrop)
    }
  }, [])
  return isOver
}
