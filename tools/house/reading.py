"""Minutes of reading of each page: words at 200 a minute, code lines at 12, folded and hidden matter not counted."""
import json,re,sys,glob
def minutes(path):
    nb=json.load(open(path)); words=code=0
    for c in nb['cells']:
        s=''.join(c['source'])
        if c['cell_type']=='markdown':
            # folded: dropdowns (any fence), exercises' solutions
            s=re.sub(r'^(:{3,}|`{3,})\{(dropdown|solution)\}.*?^\1\s*$','',s,flags=re.M|re.S)
            s=re.sub(r'^(:{3,})\{(?:exercise|prf:proof)[^\n]*\n:class: dropdown.*?^\1\s*$','',s,flags=re.M|re.S)
            words+=len(s.split())
        elif c['cell_type']=='code':
            L=s.split('\n'); d=[l for l in L if l.startswith('#|')]; body=[l for l in L if not l.startswith('#|') and l.strip()]
            D=' '.join(d)
            if re.search(r'#\| hide|default_exp|echo: false|code-fold',D): continue
            if re.search(r'#\| test',D) and len(body)>20: continue
            code+=len(body)
    return words/200+code/12,words,code
if __name__=='__main__':
    rows=sorted(((minutes(p),p) for p in glob.glob('nbs/**/*.ipynb',recursive=True)),reverse=True)
    for (m,w,c),p in rows[:40]: print(f'{m:6.1f} min {w:6} words {c:5} lines {p}')
