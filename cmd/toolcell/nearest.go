package main

// didYouMean asks for the word of a list that another was perhaps to be.
func didYouMean(word string, list []string) string { return orMean(nearest(word, list)) }

func orMean(word string) string {
	if word == "" {
		return ""
	}
	return " (did you mean " + word + "?)"
}

// nearest returns the word of a list that is like another, if one is.
func nearest(word string, list []string) (best string) {
	least := 1 + min(2, len(word)/3)
	for _, w := range list {
		if n := apart(word, w); n < least {
			best, least = w, n
		}
	}
	return best
}

// apart is how many letters of a word have to be changed, left out, added or
// swapped with the next to have the other.
func apart(a, b string) int {
	if max(len(a), len(b)) > 64 {
		return 64
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			default:
				rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+unlike(a[i-1], b[j-1]))
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

func unlike(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
