/** Edits between two words (a letter added, left out or replaced, two neighbours swapped); `most` + 1 when there are more. */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1)
      row.push(cost)
    }
    if (Math.min(...row) > most) return most + 1
    beforeLast = last
    last = row
  }
  return last[b.length]!
}

/** Whether two words differ by so few letters that one may be a slip of the other. */
export function isNear(left: string, right: string): boolean {
  const most = left.length > 7 ? 2 : left.length > 4 ? 1 : 0
  return most > 0 && left[0] === right[0] && editDistance(left, right, most) <= most
}
