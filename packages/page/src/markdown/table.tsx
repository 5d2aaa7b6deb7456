import type { Block, Inline } from '@inlay/text/markdown'
import type { ComponentChildren } from 'preact'
import { CopyButton } from '../controls/copy-button.tsx'
import { texts } from '../texts/texts.ts'

type TableBlock = Extract<Block, { kind: 'table' }>

interface TableProps {
  readonly table: TableBlock
  readonly show: (cell: readonly Inline[]) => ComponentChildren
  readonly plain: (cell: readonly Inline[]) => string
}

/** A table that scrolls sideways by itself, so it must be reachable by keyboard; copied as CSV. */
export function Table({ table, show, plain }: TableProps) {
  const { alignments, header, rows } = table
  const classOf = (column: number): string | undefined => alignments[column] ?? undefined
  return (
    <div class="table-block">
      <div class="table" tabIndex={0} role="group" aria-label={texts.steps.table}>
        <table>
          <thead>
            <tr>
              {header.map((cell, column) => (
                <th key={column} class={classOf(column)} dir="auto">
                  {show(cell)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {row.map((cell, column) => (
                  <td key={column} class={classOf(column)} dir="auto">
                    {show(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CopyButton text={() => toCsv([header, ...rows].map((row) => row.map(plain)))} label={texts.steps.copyCsv} />
    </div>
  )
}

/** Rows as CSV. A cell that a spreadsheet would take for a formula is marked as text. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  const cellOf = (value: string): string => {
    const text = /^[=+@\t\r]|^-(?![\d.,\s]*$)/.test(value) ? `'${value}` : value
    return /[",\n\r;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return rows.map((row) => row.map(cellOf).join(',')).join('\r\n')
}
