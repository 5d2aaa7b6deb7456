import { useCallback, useEffect, useState } from 'preact/hooks'
import type { DocumentFilter, NamedDocument } from '../row-pages.ts'

/** Documents that a person selected, by id; also those that no row shows. */
export type Selected = ReadonlyMap<string, NamedDocument>

export function withSelected(known: Selected, documents: readonly NamedDocument[], isSelected: boolean): Selected {
  const next = new Map(known)
  for (const { id, title } of documents)
    if (isSelected) next.set(id, { id, title })
    else next.delete(id)
  return next
}

export type RowSelection = ReturnType<typeof useRowSelection>

/**
 * Another filter clears the selection: nothing is deleted that a person does not see listed.
 * @param rowFilter that of the rows that are shown: those of before may be selected until others are read
 */
export function useRowSelection(filter: DocumentFilter, rowFilter: DocumentFilter) {
  const [selected, setSelected] = useState<Selected>(new Map())
  const select = useCallback(
    (documents: readonly NamedDocument[], isSelected: boolean) =>
      setSelected((known) => withSelected(known, documents, isSelected)),
    [],
  )
  const clear = useCallback(() => setSelected(new Map()), [])
  useEffect(clear, [filter, rowFilter])
  return { selected, select, clear }
}
